import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useRef, useState } from "react";
import type { PipelineInfo } from "~/api/app";
import { api, queryClient, take } from "~/api/client";
import { ProblemError } from "~/api/problem";
import { type FormField, fieldsOf, inputOf } from "~/jobs/schema-form";
import { toast } from "~/shell/toasts";
import { Button } from "~/ui/button";
import { Check, Field, Select, TextArea } from "~/ui/field";
import { sentence } from "~/words";
import css from "./pipeline.module.css";

const WHOLE = "input"; // the name of the one field of an input that is no object

/** A form for the input of a pipeline, made from its JSON schema. */
export function SubmitForm({ info }: { info: PipelineInfo }) {
  const fields = fieldsOf(info.inputSchema);
  const form = useRef<HTMLFormElement>(null);
  const [wrong, setWrong] = useState("");
  const submit = useMutation({
    mutationFn: (input: unknown) => take(api.POST("/api/jobs", { body: { pipeline: info.name, input } })),
    onSuccess: ({ jobId }) => {
      form.current?.reset();
      toast(`Submitted as job ${jobId}.`);
      void queryClient.invalidateQueries({ queryKey: ["jobs"] });
    },
  });
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const values = Object.fromEntries([...data].map(([name, value]) => [name, String(value)]));
    try {
      setWrong("");
      submit.mutate(fields ? inputOf(fields, values) : JSON.parse(values[WHOLE] ?? ""));
    } catch (error) {
      setWrong(`This is no JSON: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  const problem = submit.error instanceof ProblemError ? submit.error : undefined;
  const at = (name: string) => problem?.errors.find((error) => error.field.endsWith(name))?.reason;
  const isShown = problem?.errors.some((error) => fields?.some((field) => error.field.endsWith(field.name)));
  return (
    <form ref={form} className={css.form} onSubmit={send}>
      {fields ? (
        fields.map((field) => <Input key={field.name} field={field} wrong={at(field.name)} />)
      ) : (
        <TextArea label="Input as JSON" name={WHOLE} rows={6} required spellCheck={false} />
      )}
      {(wrong || (submit.error && !isShown)) && <p role="alert">{sentence(wrong || submit.error!.message)}</p>}
      <div className="row">
        <Button type="submit" look="primary" busy={submit.isPending}>
          Submit
        </Button>
      </div>
    </form>
  );
}

function Input({ field, wrong }: { field: FormField; wrong: string | undefined }) {
  const [choice, setChoice] = useState(field.initial);
  const shared = {
    label: field.label,
    name: field.name,
    required: field.isRequired,
    ...(field.hint && { hint: field.hint }),
    ...(wrong && { wrong: sentence(wrong) }),
  };
  switch (field.kind) {
    case "flag":
      return <Check label={field.label} name={field.name} value="true" defaultChecked={field.initial === "true"} />;
    case "choice":
      return (
        <Select
          {...shared}
          value={choice}
          onChange={setChoice}
          options={[...(field.isRequired ? [] : [""]), ...field.choices].map((value) => ({ value, label: value }))}
        />
      );
    case "json":
      return <TextArea {...shared} rows={3} spellCheck={false} placeholder="JSON" defaultValue={field.initial} />;
    case "whole":
    case "number":
      return (
        <Field
          {...shared}
          type="number"
          step={field.kind === "whole" ? 1 : "any"}
          defaultValue={field.initial}
          inputMode="decimal"
        />
      );
    default:
      return <Field {...shared} defaultValue={field.initial} />;
  }
}
