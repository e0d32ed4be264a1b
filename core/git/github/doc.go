// Package github reads and changes repositories on GitHub, as an installed GitHub App, by GitHub's
// REST API. See [App]. The server may be github.com or a GitHub Enterprise Server.
//
// # What this package owns
//
// The credentials of the app and the tokens of its installations (key.go, tokens.go), the requests
// and what their failures mean (call.go), reading a repository without a clone (read.go), pull
// requests (propose.go), which repositories a person may connect (person.go), and what deliveries of
// webhooks say (webhook.go).
//
// # What is never trusted
//
// Files and names come from people of the repository, so everything that is read has a limit.
// Symbolic links and submodules are not followed. A delivery only says where to look: the package
// asks the API for what it reports. An installation id that a browser brings proves nothing; only
// GitHub's answer to that person's own token does.
//
// # What is never shown
//
// Errors and logs have no token, no key and no body of an answer, except for its short message in
// the reason of a refusal.
package github
