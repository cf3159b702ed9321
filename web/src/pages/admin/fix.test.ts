import { expect, test } from "vitest";
import { fixOf, pausedQueue } from "./fix";

test("a command is told from words", () => {
  expect(fixOf("forebay migrate")).toEqual({ command: "forebay migrate" });
  expect(fixOf("pip install 'forebay[web]'")).toEqual({ command: "pip install 'forebay[web]'" });
  expect(fixOf("FOREBAY_LISTEN=false forebay worker, or connect without the pooler")).toEqual({
    command: "FOREBAY_LISTEN=false forebay worker",
    words: "or connect without the pooler",
  });
  expect(fixOf("forebay worker (a running worker creates them)")).toEqual({
    command: "forebay worker",
    words: "a running worker creates them",
  });
  expect(fixOf("set FOREBAY_CAPTION_MODEL")).toEqual({ words: "set FOREBAY_CAPTION_MODEL" });
  expect(fixOf("start one: `forebay worker --queues media` does")).toEqual({
    words: "start one: `forebay worker --queues media` does",
    command: "forebay worker --queues media",
  });
});

test("a paused queue can be resumed by a button", () => {
  expect(pausedQueue("forebay resume --queue pages.fetch")).toBe("pages.fetch");
  expect([pausedQueue("forebay migrate"), pausedQueue(null)]).toEqual([undefined, undefined]);
});
