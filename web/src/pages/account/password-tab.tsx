import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { changePassword } from "~/api/account";
import { queryClient } from "~/api/client";
import { ProblemError } from "~/api/problem";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Field } from "~/ui/field";
import { Notice } from "~/ui/notice";
import { sentence } from "~/words";
import css from "./account.module.css";

export function PasswordTab() {
  const [old, setOld] = useState("");
  const [next, setNext] = useState("");
  const change = useMutation({
    mutationFn: () => changePassword({ old: old || null, new: next }),
    onSuccess: () => {
      setOld("");
      setNext("");
      toast("The password is changed.");
      void queryClient.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
  const problem = change.error instanceof ProblemError ? change.error : undefined;
  const [wrongOld, wrongNew] = [problem?.at("old"), problem?.at("new")];
  return (
    <form
      className={css.section}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate();
      }}
    >
      <div className={css.form}>
        <Field
          label="Password now"
          hint="Empty if you have signed in by a link and have none yet."
          type="password"
          autoComplete="current-password"
          value={old}
          wrong={wrongOld && sentence(wrongOld)}
          onChange={(event) => setOld(event.target.value)}
        />
        <Field
          label="New password"
          type="password"
          autoComplete="new-password"
          required
          value={next}
          wrong={wrongNew && sentence(wrongNew)}
          onChange={(event) => setNext(event.target.value)}
        />
        {change.isError && !wrongOld && !wrongNew && (
          <Notice kind="error" title="The password is not changed.">
            {sentence(change.error.message)}
          </Notice>
        )}
        <Button type="submit" look="primary" busy={change.isPending} disabled={!next}>
          Change the password
        </Button>
      </div>
    </form>
  );
}
