sections.push({begin: async () => {
  const {ok, body} = await ask("GET", "/api/pipelines");
  part("sheets-upload").hidden = !ok || !body.some(each => each.name === "sheets");
}});

async function upload() {
  const [file] = part("sheets-file").files;
  if (!file) return;
  const form = new FormData();
  form.append("pipeline", "sheets");
  form.append("file", file);
  say(`Uploading ${file.name} …`);
  try {
    const {ok, body} = await ask("POST", "/api/jobs", form);
    say(ok ? `${file.name} is being read: job ${body.jobId}.` : `${file.name}: ${sentence(body.detail)}`);
    await show();
  } catch (error) {
    say(`No answer: ${error.message}. Try again.`);
  } finally {
    part("sheets-upload").reset();
  }
}

part("sheets-file").addEventListener("change", upload);
