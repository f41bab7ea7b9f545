'use strict';
const news = document.getElementById('news');

// The time that is left, as a bar and in words.
function drawTimes() {
  for (const place of document.querySelectorAll('.left')) {
    const start = Date.parse(place.dataset.received), end = Date.parse(place.dataset.expires), now = Date.now();
    if (Number.isNaN(start) || Number.isNaN(end) || end <= start) continue;
    const seconds = Math.max(0, Math.round((end - now) / 1000));
    const words = seconds >= 60 ? Math.floor(seconds / 60) + ' min ' + seconds % 60 + ' s' : seconds + ' s';
    place.textContent = seconds ? words + ' left' : 'time is over';
    const bar = document.createElement('progress');
    bar.max = end - start;
    bar.value = Math.max(0, Math.min(end - start, end - now));
    bar.setAttribute('aria-hidden', 'true');
    place.append(bar);
  }
}

// The list again, and the card if its request has changed; never another request's card in its place.
async function refresh(changed) {
  const shown = document.querySelector('.card');
  const path = shown ? '/requests/' + shown.dataset.request : '/';
  const response = await fetch(path + location.search, { cache: 'no-store' }).catch(() => null);
  if (!response || !response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  document.querySelector('nav').replaceWith(page.querySelector('nav'));
  if (shown && (changed === undefined || shown.dataset.request === changed)) {
    const card = page.querySelector('.card');
    if (card && card.dataset.request === shown.dataset.request) shown.replaceWith(card);
  }
  drawTimes();
}

if (document.body.hasAttribute('data-live')) {
  drawTimes();
  setInterval(drawTimes, 1000);
  const events = new EventSource('/events');
  let isGone = false;
  events.onopen = () => { if (isGone) { isGone = false; news.textContent = ''; refresh(); } };
  events.onmessage = message => {
    const { event, request } = JSON.parse(message.data);
    if (event === 'requestPresented') news.textContent = 'A new request has come.';
    refresh(request);
  };
  events.addEventListener('gone', () => { isGone = true; news.textContent = 'The agent does not answer.'; });
  events.onerror = () => { isGone = true; };
} else if (document.body.hasAttribute('data-wait')) {
  setTimeout(() => location.replace('/'), 2000);
}
