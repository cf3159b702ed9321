import type { WholeArticle } from "~/api/articles";
import { Button } from "~/ui/button";
import { Notice } from "~/ui/notice";
import { Time } from "~/ui/time";
import css from "./articles.module.css";

interface ConflictProps {
  /** As it is now. */
  article: WholeArticle;
  /** The version that was changed here. */
  base: number;
  isBusy: boolean;
  onCompare: () => void;
  onMine: () => void;
  onTheirs: () => void;
}

/** Somebody has saved a version meanwhile, here or elsewhere: both are there, and a person decides. */
export function Conflict({ article, base, isBusy, onCompare, onMine, onTheirs }: ConflictProps) {
  return (
    <Notice
      kind="warn"
      title={`Version ${article.version} was saved after you began with version ${base}.`}
      actions={
        <>
          <Button onClick={onCompare}>Compare both</Button>
          <Button look="primary" busy={isBusy} onClick={onMine}>
            Save mine over it
          </Button>
          <Button onClick={onTheirs}>Discard mine</Button>
        </>
      }
    >
      <span className={css.conflict}>
        It was saved <Time value={article.updatedAt} />
        {article.message && <>: “{article.message}”</>}. Neither text is lost: if you save yours, that version stays in
        the list of versions.
      </span>
    </Notice>
  );
}
