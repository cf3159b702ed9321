// Scrolls down the page once to trigger lazy loading, and back; at most `most` pixels.
(async (most, pause, within) => {
  const end = performance.now() + within;
  const root = document.documentElement;
  if (!root) return [innerWidth, innerHeight];
  const height = () => Math.max(root.scrollHeight, document.body ? document.body.scrollHeight : 0);
  const wait = () => new Promise(done => setTimeout(done, pause));
  for (let top = 0; top < Math.min(height(), most) && performance.now() < end; top += innerHeight) {
    scrollTo({ top, behavior: 'instant' });
    await wait();
  }
  const pending = [...document.images].filter(image => !image.complete && image.getBoundingClientRect().top < most);
  const loaded = Promise.all(pending.map(image => new Promise(done => { image.onload = image.onerror = done; })));
  await Promise.race([loaded, new Promise(done => setTimeout(done, Math.max(0, Math.min(2000, end - performance.now()))))]);
  scrollTo({ top: 0, behavior: 'instant' });
  await wait();
  return [Math.max(root.scrollWidth, innerWidth), height()];
})
