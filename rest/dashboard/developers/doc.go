// Package developers has the dashboard's pages about credentials: API keys, OAuth
// applications and blocked applications, and the access that people granted to
// applications.
//
// Package core/access defines credentials and how they change. This package adds one rule,
// which it checks in the transaction of the change. A visitor cannot give a program more
// than the visitor's own permissions cover, and cannot see the secret of a credential that
// has more scopes.
package developers
