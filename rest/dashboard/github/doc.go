// Package github has the dashboard page on which a person connects a repository on GitHub. GitHub
// sends the browser back to it, with a code that proves who the person is there.
//
// An installation id in an address proves nothing, because a browser can send any. The page ignores
// it. It offers the repositories that GitHub lists for the token of this person, and signs each offer
// for the session and the organization, so that a form can only choose what was offered.
package github
