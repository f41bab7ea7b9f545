/// The style sheet.
enum Style {
    static let css = """
        :root {
          color-scheme: light dark;
          --paper: #f4f5f7; --card: #ffffff; --ink: #1b1f24; --faint: #5a6370; --line: #d5dae0; --accent: #0b57d0;
          --approve: #126b3a; --deny: #8a4b00; --fraud: #a3211b; --warn-paper: #fff4d6; --warn-ink: #5c4300;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --paper: #15181c; --card: #1f242a; --ink: #e9ecef; --faint: #a4adb8; --line: #3a424c; --accent: #8ab4f8;
            --approve: #7fd8a4; --deny: #ffb870; --fraud: #ff9d94; --warn-paper: #3a300f; --warn-ink: #ffe29a;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
        a { color: var(--accent); }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        header { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: center; padding: .75rem 1.25rem;
          border-bottom: 1px solid var(--line); background: var(--card); }
        header h1 { font-size: 1.25rem; margin: 0; } header h1 a { color: inherit; text-decoration: none; }
        header p { margin: 0; color: var(--faint); }
        .filter { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
        input, button { font: inherit; color: inherit; border: 1px solid var(--faint); border-radius: .5rem;
          padding: .35rem .7rem; background: var(--card); min-width: 0; max-width: 100%; }
        button { cursor: pointer; }
        .columns { display: grid; grid-template-columns: minmax(16rem, 24rem) minmax(0, 1fr); max-width: 100rem; margin: 0 auto; }
        nav, main { padding: 1.25rem; min-width: 0; }
        nav ul { list-style: none; margin: 0; padding: 0; }
        nav li a { display: grid; grid-template-columns: 1fr auto; gap: 0 .75rem; padding: .7rem .9rem; margin-bottom: .5rem;
          color: inherit; text-decoration: none; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
        nav li a[aria-current] { border-color: var(--accent); box-shadow: inset 4px 0 var(--accent); }
        nav .amount { font-weight: 650; overflow-wrap: anywhere; }
        nav .merchant, nav .from, nav .left { grid-column: 1 / -1; overflow-wrap: anywhere; }
        nav .from, nav .left, .count, .digest, .empty { color: var(--faint); font-size: .875rem; }
        .state { font-size: .8125rem; color: var(--faint); }
        .state.approved { color: var(--approve); } .state.denied, .state.refused { color: var(--fraud); }
        .state.pending { color: var(--accent); }
        .tabs { display: flex; flex-wrap: wrap; gap: .25rem 1rem; max-width: 26rem; margin: 0 auto 1rem; }
        .tabs a { padding: .25rem 0; text-decoration: none; border-bottom: 3px solid transparent; }
        .tabs a[aria-current] { color: inherit; border-color: var(--accent); }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 2rem; padding: 2rem 1.5rem 1.5rem;
          max-width: 26rem; margin: 0 auto; box-shadow: 0 1rem 2.5rem #0002; }
        .card h2 { font-size: 1.125rem; margin: 0 0 1rem; }
        .text { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0 0 1rem; max-height: 60vh; overflow: auto; }
        .text span { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); unicode-bidi: plaintext; }
        .text b { font-weight: 400; color: var(--faint); white-space: normal; }
        .text .amount { font-size: 1.5rem; font-weight: 650; line-height: 1.3; margin: .25rem 0; }
        .text .amount b { font-size: 1rem; align-self: end; }
        .text .warning b { color: inherit; }
        .text .warning { background: var(--warn-paper); color: var(--warn-ink); border-radius: .5rem; padding: .5rem .75rem; }
        .problem { border: 2px solid var(--fraud); border-radius: .5rem; padding: .5rem .75rem; overflow-wrap: anywhere; }
        .buttons { display: grid; gap: .6rem; margin: 1rem 0 0; }
        .buttons button { padding: .75rem; font-weight: 600; border-radius: .9rem; border-width: 2px; }
        .approve { color: var(--card); background: var(--approve); border-color: var(--approve); }
        .deny { color: var(--deny); border-color: var(--deny); } .fraud { color: var(--fraud); border-color: var(--fraud); }
        .return { overflow-wrap: anywhere; }
        .digest code { overflow-wrap: anywhere; }
        progress { display: block; width: 100%; height: .4rem; accent-color: var(--accent); }
        .copy, .wire, .evidence { max-width: 60rem; margin: 1rem auto 0; }
        .copy { max-width: 26rem; } .copy input { width: 100%; }
        .wire pre, .evidence pre { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem;
          white-space: pre-wrap; overflow-wrap: anywhere; font-size: .875rem; }
        .wire h3 { font-size: .9375rem; margin: 1rem 0 .25rem; }
        .notice { max-width: 36rem; margin: 10vh auto; }
        @media (max-width: 48rem) {
          .columns { grid-template-columns: minmax(0, 1fr); } main { order: -1; }
          nav, main { padding: .75rem; }
        }
        @media (prefers-reduced-motion: no-preference) { .buttons button { transition: filter .15s; } }
        .buttons button:hover { filter: brightness(1.08); }

        """
}

/// The script: it makes the page live and decides nothing.
///
/// Without it the page works as well.
enum Script {
    static let text = """
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

        """
}
