// Package developers is the dashboard's pages about credentials: API keys, OAuth
// applications and the ones that are blocked, and the access that people granted to
// applications.
//
// What a credential is and how it changes is decided in core/access. The room adds one
// rule: a visitor cannot give a program more than their own permissions cover, nor see a
// secret that may do more. That is checked in the transaction of the change.
package developers
