// Removes what is below the captured part: the layout of a page of a million pixels takes very long.
(most => {
  const unseen = [];
  const waiting = document.body ? [document.body] : [];
  for (let looked = 0; waiting.length && looked < 200000; looked++) {
    for (const child of waiting.pop().children) {
      const box = child.getBoundingClientRect();
      if (box.top + scrollY > most) unseen.push(child);
      else if (box.bottom + scrollY > most) waiting.push(child);
    }
  }
  for (const element of unseen) element.remove();
  return unseen.length;
})
