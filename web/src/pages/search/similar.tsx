import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { similarQuery } from "~/api/search";
import { kindWord, placeOf } from "~/hits/place";
import { Loaded } from "~/shell/trouble";
import { Empty } from "~/ui/notice";
import { Section } from "~/ui/section";
import { SkeletonRows } from "~/ui/skeleton";
import { HitList } from "./hit-list";

/** What is like one thing, the most similar first. `like` is its kind and its name, with a colon between. */
export function Similar({ like }: { like: string }) {
  const [kind = "", ...rest] = like.split(":");
  const ref = rest.join(":");
  const query = useQuery(similarQuery(kind, ref));
  const place = placeOf({ kind, ref, path: null });
  return (
    <Section title="More like this" beside={place && <Link to={place}>{kindWord(kind)} itself</Link>}>
      <Loaded query={query} what="What is similar" loading={<SkeletonRows rows={6} height={88} />}>
        {(hits) =>
          hits.length > 0 ? (
            <HitList hits={hits} />
          ) : (
            <Empty title="Nothing is like it">Nothing else that you have has much in common with it.</Empty>
          )
        }
      </Loaded>
    </Section>
  );
}
