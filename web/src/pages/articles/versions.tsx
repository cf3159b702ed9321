import { useInfiniteQuery, useMutation, useQuery } from "@tanstack/react-query";
import {
  type ArticleVersion,
  articleDifferenceQuery,
  articleVersionsQuery,
  restoreVersion,
  type WholeArticle,
} from "~/api/articles";
import { Difference } from "~/difference/difference";
import { exact } from "~/format";
import { Failed } from "~/shell/failed";
import { failedToast, toast } from "~/shell/toasts";
import { Loaded } from "~/shell/trouble";
import { Button } from "~/ui/button";
import { classes } from "~/ui/classes";
import { More } from "~/ui/more";
import { SkeletonRows } from "~/ui/skeleton";
import { Time } from "~/ui/time";
import css from "./articles.module.css";

interface VersionsProps {
  article: WholeArticle;
  version: number | undefined;
  onVersion: (version: number) => void;
}

/** All versions; the chosen one is compared with the one before it. */
export function Versions({ article, version = article.version, onVersion }: VersionsProps) {
  const query = useInfiniteQuery(articleVersionsQuery(article.id));
  const versions = query.data?.pages.flatMap((page) => page.versions) ?? [];
  return (
    <Loaded query={query} what="The versions" loading={<SkeletonRows rows={4} height={56} />}>
      {() => (
        <div className={css.versions}>
          <div className="stack">
            <ol className={css.versionList} aria-label="Versions">
              {versions.map((each) => (
                <li key={each.version}>
                  <VersionButton
                    version={each}
                    isNow={each.version === article.version}
                    isChosen={each.version === version}
                    onChoose={() => onVersion(each.version)}
                  />
                </li>
              ))}
            </ol>
            <More
              hasMore={query.hasNextPage}
              isLoading={query.isFetchingNextPage}
              onMore={() => void query.fetchNextPage()}
            />
          </div>
          <Compared article={article} version={version} />
        </div>
      )}
    </Loaded>
  );
}

interface VersionButtonProps {
  version: ArticleVersion;
  isNow: boolean;
  isChosen: boolean;
  onChoose: () => void;
}

function VersionButton({ version, isNow, isChosen, onChoose }: VersionButtonProps) {
  return (
    <button
      type="button"
      aria-pressed={isChosen}
      className={classes(css.version, isChosen && css.chosen)}
      onClick={onChoose}
    >
      <strong>
        Version {version.version}
        {isNow && " (now)"}
      </strong>
      <span>{version.message ?? version.title}</span>
      <span className={css.side}>
        <Time value={version.createdAt} />, {exact(version.characters)} characters
      </span>
    </button>
  );
}

function Compared({ article, version }: { article: WholeArticle; version: number }) {
  const isFirst = version <= 1;
  const query = useQuery(articleDifferenceQuery(article.id, Math.max(1, version - 1), version));
  const restore = useMutation({
    mutationFn: () => restoreVersion(article, version),
    onSuccess: (restored) => {
      const undo = () =>
        void restoreVersion(restored, article.version).catch((error: unknown) =>
          failedToast("It was not undone.", error, undo),
        );
      toast(`Version ${version} is the text again, as version ${restored.version}.`, { label: "Undo", run: undo });
    },
  });
  return (
    <section className="stack" aria-label={`Version ${version}`}>
      <div className={css.comparedHead}>
        <h2>{isFirst ? "The first version" : `What changed in version ${version}`}</h2>
        {version !== article.version && (
          <Button busy={restore.isPending} onClick={() => restore.mutate()}>
            Restore version {version}
          </Button>
        )}
      </div>
      <Failed of={restore} what="The version was not restored." />
      {isFirst ? (
        <p className="muted">Nothing was before it.</p>
      ) : (
        <Loaded query={query} what="The difference" loading={<SkeletonRows rows={6} height={24} />}>
          {({ difference, isCut }) => (
            <>
              {difference ? (
                <Difference text={withoutNames(difference)} />
              ) : (
                <p className="muted">Title and text are the same.</p>
              )}
              {isCut && <p className="muted">The difference is longer than what is shown.</p>}
            </>
          )}
        </Loaded>
      )}
    </section>
  );
}

/** Without the two lines with the names of the versions: the heading says so. */
function withoutNames(difference: string): string {
  return difference.replace(/^---.*\n\+\+\+.*\n/, "");
}
