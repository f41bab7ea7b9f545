import Mustache

/// The templates (Mustache; `{{…}}` is escaped).
enum Templates {
    static let inbox = try? MustacheTemplate(string: inboxText)
    static let notice = try? MustacheTemplate(string: noticeText)

    private static let head = """
        <!DOCTYPE html>
        <html lang="en">
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>{{title}} - oob-inbox</title>
        <link rel="stylesheet" href="/style.css">

        """

    private static let noticeText =
        head + """
            <body{{#isWaiting}} data-wait{{/isWaiting}}>
            <main class="notice">
            <h1>{{title}}</h1>
            <p>{{sentence}}</p>
            <p><a href="/">To the inbox</a></p>
            </main>
            {{#isWaiting}}<script src="/script.js"></script>{{/isWaiting}}
            </body>
            </html>

            """

    private static let inboxText =
        head + """
            <body data-live>
            <header>
            <h1><a href="/">Inbox</a></h1>
            <form class="filter" action="/" method="get" role="search">
            <label for="q">Search</label>
            <input id="q" name="q" type="search" value="{{query}}" maxlength="200">
            <label class="check"><input type="checkbox" name="state" value="all"{{#all}} checked{{/all}}> decided too</label>
            <button>Show</button>
            </form>
            {{#mayDecide}}{{/mayDecide}}{{^mayDecide}}<p class="mode">Looking only</p>{{/mayDecide}}
            <p id="news" role="status"></p>
            </header>
            <div class="columns">
            <nav aria-label="Requests">
            {{^hasRows}}<p class="empty">{{#query}}No request has this in it.{{/query}}{{^query}}Nothing waits for a decision.{{/query}}</p>{{/hasRows}}
            {{#hasRows}}<p class="count">{{count}} request(s)</p>
            <ul>
            {{#rows}}<li><a href="{{link}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>
            <span class="amount">{{amount}}</span> <span class="state {{state}}">{{state}}</span>
            <span class="merchant"><bdi>{{merchant}}</bdi></span>
            <span class="from"><bdi>{{enrollment}}</bdi> at {{issuer}}</span>
            {{#isPending}}{{#time}}{{#hasEnd}}<span class="left" data-received="{{received}}" data-expires="{{expires}}">until \
            <time datetime="{{expires}}">{{expires}}</time></span>{{/hasEnd}}{{/time}}{{/isPending}}
            </a></li>
            {{/rows}}</ul>
            <p class="pages">{{#previous}}<a href="{{previous}}" rel="prev">Newer</a>{{/previous}} \
            {{#next}}<a href="{{next}}" rel="next">Older</a>{{/next}}</p>{{/hasRows}}
            </nav>
            <main>
            {{#shown}}
            <div class="tabs" role="navigation" aria-label="Views of the request">{{#tabs}}<a href="{{link}}"{{#isCurrent}} \
            aria-current="page"{{/isCurrent}}>{{title}}</a>{{/tabs}}</div>
            {{#isCard}}
            <article class="card" aria-labelledby="card-title" data-request="{{id}}">
            <h2 id="card-title">{{#isPending}}Do you approve this?{{/isPending}}{{^isPending}}{{outcome}}{{/isPending}}</h2>
            {{#problem}}<p class="problem" role="alert">{{problem}}</p>{{/problem}}
            <pre class="text" tabindex="0">{{#lines}}<span{{#isAmount}} class="amount"{{/isAmount}}{{#isWarning}} \
            class="warning"{{/isWarning}}><b>{{label}}</b>{{value}}
            </span>{{/lines}}</pre>
            {{#isPending}}{{#time}}{{#hasEnd}}<p class="left" data-received="{{received}}" data-expires="{{expires}}">until \
            <time datetime="{{expires}}">{{expires}}</time></p>{{/hasEnd}}{{/time}}{{/isPending}}
            {{#decides}}
            <form method="post" action="{{action}}" autocomplete="off">
            <input type="hidden" name="form" value="{{form}}">
            <input type="hidden" name="digest" value="{{digest}}">
            {{#needsPIN}}<p><label for="pin">PIN</label>
            <input id="pin" name="pin" type="password" inputmode="numeric" autocomplete="off" maxlength="64"></p>{{/needsPIN}}
            <p class="buttons"><button name="decision" value="approve" class="approve">Approve</button>
            <button name="decision" value="deny" class="deny">Deny</button>
            <button name="decision" value="fraud" class="fraud">Deny: I did not start this</button></p>
            </form>
            {{/decides}}
            {{#return}}<p class="return">Back to the merchant ({{scheme}}): <a href="{{url}}" rel="noreferrer noopener">{{url}}</a></p>{{/return}}
            <p class="digest">SHA-256 of this text: <code>{{digest}}</code></p>
            </article>
            <details class="copy"><summary>Copy as</summary>
            <p><label>curl <input readonly value="{{curl}}"></label></p>
            <p><label>oobctl <input readonly value="{{oobctl}}"></label></p>
            </details>
            {{/isCard}}
            {{#wire}}<section class="wire" aria-label="Wire">{{#parts}}<h3>{{title}}</h3><pre tabindex="0">{{text}}</pre>{{/parts}}</section>{{/wire}}
            {{#evidence}}<section class="evidence" aria-label="Evidence">
            <p><a href="{{link}}" download>Download the evidence</a>: request, text, decision, assertion and journal.</p>
            <p>As files that openssl verifies:</p>
            <pre tabindex="0">oobctl evidence {{id}}</pre></section>{{/evidence}}
            {{/shown}}
            {{^shown}}<p class="empty">A request that comes is shown here.</p>{{/shown}}
            </main>
            </div>
            <script src="/script.js"></script>
            </body>
            </html>

            """
}
