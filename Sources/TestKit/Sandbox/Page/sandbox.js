'use strict';
const place = document.body.dataset.page, news = document.getElementById('news');
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));

// What is another now than it was, part by part; what is open stays open, and the focus where it is.
function show(html) {
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = page.getElementById(part.id), focused = document.activeElement;
    if (!fresh || fresh.isEqualNode(part) || part === focused) continue;
    for (const open of part.querySelectorAll('details[open]')) {
      const same = fresh.querySelector('#' + open.id);
      if (same) same.open = true;
    }
    if (part.matches('select')) fresh.value = part.value;
    if (part.dataset.said !== fresh.dataset.said) news.textContent = fresh.dataset.said;
    const key = part.contains(focused) && ['href', 'formaction', 'value'].find(name => focused.hasAttribute(name));
    const value = key && focused.getAttribute(key);
    part.replaceWith(fresh);
    if (key) [...fresh.querySelectorAll('[' + key + ']')].find(each => each.getAttribute(key) === value)?.focus();
  }
  const token = page.querySelector('input[name=token]')?.value;
  if (token) for (const input of document.querySelectorAll('input[name=token]')) input.value = token;
}

// Asks for the page again and again; the answer comes as soon as there is something new.
async function follow() {
  let tag = null, isGone = false;
  for (;;) {
    while (document.hidden) {
      await new Promise(seen => document.addEventListener('visibilitychange', seen, { once: true }));
    }
    try {
      const headers = tag ? { 'If-None-Match': tag } : {};
      const answer = await fetch(place + '?wait=20', { cache: 'no-store', headers });
      if (answer.status === 200) {
        tag = answer.headers.get('etag');
        show(await answer.text());
      } else if (answer.status !== 304) throw new Error('status ' + answer.status);
      if (isGone) news.textContent = '';
      isGone = false;
      await pause(300);
    } catch {
      tag = null;
      isGone = true;
      news.textContent = 'The sandbox does not answer.';
      await pause(2000);
    }
  }
}

document.addEventListener('focusin', event => { if (event.target.matches('input[readonly]')) event.target.select(); });
follow();
