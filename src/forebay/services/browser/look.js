// Collects facts about the page; runs in an isolated world, so that scripts of the page cannot interfere.
(longestHtml => {
  const body = document.body, root = document.documentElement;
  const cut = (text, most) => (text || '').slice(0, most);
  const seen = element => { const box = element.getBoundingClientRect(); return box.width > 0 && box.height > 0; };
  const markers = [];
  for (const element of [...document.querySelectorAll('script[src], iframe[src], form, div[id], div[class*=captcha i]')].slice(0, 1000))
    for (const name of ['src', 'action', 'id', 'class'])
      if (element.hasAttribute(name)) markers.push(cut(element.getAttribute(name), 300));
  const html = root ? root.outerHTML : '';
  return {
    url: location.href,
    title: cut(document.title, 500),
    heading: cut((document.querySelector('h1, h2') || {}).innerText, 300),
    text: cut(body ? body.innerText : '', 200000),
    hasPassword: [...document.querySelectorAll('input[type=password]')].some(seen),
    hasMedia: [...document.querySelectorAll('img, video, canvas, iframe, object, embed, svg, frame')].slice(0, 2000).some(seen),
    hasScripts: document.scripts.length > 0,
    markers: markers.join('\n'),
    html: html.slice(0, longestHtml),
    htmlIsCut: html.length > longestHtml,
  };
})
