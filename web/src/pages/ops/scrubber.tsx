import { Pause, Play } from "lucide-react";
import { useEffect, useId, useState } from "react";
import { clock } from "~/format";
import { Button } from "~/ui/button";
import css from "./flow.module.css";

const PACE_MS = 700; // for a minute, while it plays

interface ScrubberProps {
  /** The minutes of the last hour; after the last of them comes now. */
  minutes: number[];
  /** The chosen minute; undefined is now. */
  at: number | undefined;
  onChange: (at: number | undefined) => void;
}

/** Goes back in the last hour, minute by minute, and plays it. */
export function Scrubber({ minutes, at, onChange }: ScrubberProps) {
  const id = useId();
  const [isPlaying, setPlaying] = useState(false);
  const found = at === undefined ? minutes.length : minutes.indexOf(at);
  const index = found < 0 ? 0 : found;
  const go = (next: number) => onChange(minutes[next]);
  useEffect(() => {
    if (!isPlaying) return;
    if (index >= minutes.length) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => onChange(minutes[index + 1]), PACE_MS);
    return () => clearTimeout(timer);
  }, [isPlaying, index, minutes, onChange]);
  const play = () => {
    if (!isPlaying && index >= minutes.length) go(0);
    setPlaying(!isPlaying);
  };
  return (
    <div className={css.scrubber}>
      <Button icon look="plain" aria-label={isPlaying ? "Stop" : "Play the last hour"} onClick={play}>
        {isPlaying ? <Pause /> : <Play />}
      </Button>
      <label htmlFor={id} className="only-heard">
        Time
      </label>
      <input
        id={id}
        type="range"
        min={0}
        max={minutes.length}
        value={index}
        aria-valuetext={words(minutes[index])}
        onChange={(event) => {
          setPlaying(false);
          go(Number(event.target.value));
        }}
      />
      <output htmlFor={id}>{words(minutes[index])}</output>
      <Button hidden={at === undefined} onClick={() => onChange(undefined)}>
        Now
      </Button>
    </div>
  );
}

function words(minute: number | undefined): string {
  return minute === undefined ? "now" : clock(new Date(minute));
}
