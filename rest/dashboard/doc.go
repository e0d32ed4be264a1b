// Package dashboard is the pages on which people run their organization: API
// keys, OAuth clients, what people allowed, members, settings, the audit log.
//
// Each page reads and changes through the tasks of core/access; none has a rule
// of its own beyond who may see it. Signing in, sessions and the frame of a page
// come from outside as [Frame]. The pages are made on the server, need no script,
// and every form carries a token of the session beside the browser's own word on
// where it comes from.
package dashboard
