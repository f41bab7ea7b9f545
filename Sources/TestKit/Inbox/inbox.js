// It makes the page live and decides nothing; without it the page works as well.
'use strict';
const news = document.getElementById('news');
const body = document.body;
const kept = { get: name => { try { return localStorage.getItem(name); } catch { return null; } },
               set: (name, value) => { try { localStorage.setItem(name, value); } catch { /* then it is not kept */ } } };

// The time that is left by the agent's clock, as a bar and in words.
function drawTimes() {
  const now = Date.now() + 1000 * Number(body.dataset.clockOffset || 0);
  for (const place of document.querySelectorAll('.left')) {
    const start = Date.parse(place.dataset.received), end = Date.parse(place.dataset.expires);
    if (Number.isNaN(start) || Number.isNaN(end) || end <= start) continue;
    const seconds = Math.max(0, Math.round((end - now) / 1000));
    let words = place.querySelector('.words'), bar = place.querySelector('progress');
    if (!words) {
      words = document.createElement('span');
      words.className = 'words';
      bar = document.createElement('progress');
      bar.max = end - start;
      bar.setAttribute('aria-hidden', 'true');
      place.replaceChildren(words, bar);
    }
    words.textContent = (seconds >= 60 ? Math.floor(seconds / 60) + ' min ' + seconds % 60 : seconds) + ' s left';
    bar.value = Math.max(0, Math.min(end - start, end - now));
  }
}

const bytesOf = base64url => Uint8Array.from(atob(base64url.replace(/-/g, '+').replace(/_/g, '/')), c => c.charCodeAt(0));

// The challenge, computed here from what the page shows.
async function compute() {
  for (const place of document.querySelectorAll('.computed')) {
    if (!crypto.subtle) continue;
    const encoder = new TextEncoder();
    const parts = [encoder.encode('oob-authn-v1\0'), bytesOf(place.dataset.nonce), encoder.encode(place.dataset.transaction)];
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', await new Blob(parts).arrayBuffer()));
    const text = btoa(String.fromCharCode(...digest)).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
    const isSame = text === place.dataset.challenge;
    place.classList.add(isSame ? 'same' : 'other');
    place.textContent = 'Computed in this browser: ' + text +
      (isSame ? ', the challenge in the message.' : ', which is not the challenge in the message.');
  }
}

function addCopyButtons() {
  for (const place of document.querySelectorAll('[data-copy]')) {
    if (place.nextElementSibling?.classList.contains('copier') || !navigator.clipboard) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copier';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(place.textContent);
      news.textContent = 'Copied.';
    });
    place.after(button);
  }
}

function draw() {
  drawTimes();
  addCopyButtons();
  compute();
}

// The list again, and what is shown of the request if that is another by now; never another request in its place.
async function refresh() {
  const view = document.querySelector('.view');
  const path = view ? '/requests/' + view.dataset.request : '/';
  const response = await fetch(path + location.search, { cache: 'no-store' }).catch(() => null);
  if (!response || !response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  if (!page.querySelector('nav')) return;
  const focused = document.activeElement?.closest('nav a')?.getAttribute('href');
  document.querySelector('nav').replaceWith(page.querySelector('nav'));
  if (focused) document.querySelector('nav a[href="' + CSS.escape(focused) + '"]')?.focus();
  const newView = page.querySelector('.view');
  const isSame = view && newView && view.dataset.request === newView.dataset.request;
  if (isSame && view.dataset.version !== newView.dataset.version) view.replaceWith(newView);
  draw();
}

// Events that come while a refresh is under way are one more refresh, however many they are.
let isRefreshing = false, isDue = false;
async function refreshSoon() {
  isDue = true;
  if (isRefreshing) return;
  isRefreshing = true;
  while (isDue) {
    isDue = false;
    await refresh();
  }
  isRefreshing = false;
}

// Sound and notifications, if they are asked for: they tell that something came, and approve nothing.
const alerts = document.querySelector('.alerts');
function keepChoice(id, allowed) {
  const box = document.getElementById(id);
  box.checked = kept.get('oob-inbox-' + id) === 'yes';
  box.addEventListener('change', async () => {
    if (box.checked && allowed && !await allowed()) box.checked = false;
    kept.set('oob-inbox-' + id, box.checked ? 'yes' : 'no');
  });
  return box;
}

function beep() {
  const context = new AudioContext();
  const tone = context.createOscillator(), volume = context.createGain();
  tone.frequency.value = 880;
  volume.gain.value = 0.1;
  tone.connect(volume).connect(context.destination);
  tone.start();
  tone.stop(context.currentTime + 0.15);
  tone.onended = () => context.close();
}

if (body.hasAttribute('data-live')) {
  alerts.hidden = false;
  const sound = keepChoice('sound');
  const notify = keepChoice('notify', async () => 'Notification' in window && await Notification.requestPermission() === 'granted');
  draw();
  setInterval(drawTimes, 1000);
  const events = new EventSource('/events');
  let problem = '';
  const tell = sentence => { if (problem !== sentence) news.textContent = problem = sentence; };
  events.addEventListener('here', () => {
    if (problem) refreshSoon();
    tell('');
  });
  events.onmessage = message => {
    const { event } = JSON.parse(message.data);
    if (event === 'requestPresented') {
      news.textContent = 'A new request has come.';
      if (sound.checked) beep();
      if (notify.checked) new Notification('A new request has come', { tag: 'oob-inbox' });
    }
    refreshSoon();
  };
  // The session is over: its page goes, and the one that comes says how to go on.
  events.addEventListener('over', () => location.reload());
  events.addEventListener('gone', () => tell('The agent does not answer.'));
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) {
      tell('This window shows no news any more: reload it.');
      fetch(location.href, { cache: 'no-store' }).then(response => { if (response.status === 403) location.reload(); }, () => {});
    } else if (!problem) tell('The inbox does not answer.');
  };
} else if (body.hasAttribute('data-wait')) {
  // Asks in the background, which keeps no session alive.
  const lookAgain = async () => {
    const response = await fetch(location.href, { cache: 'no-store' }).catch(() => null);
    if (response && response.status !== 502) location.reload(); else setTimeout(lookAgain, 2000);
  };
  setTimeout(lookAgain, 2000);
}
