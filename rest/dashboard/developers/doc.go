// Package developers has the dashboard's pages about credentials: API keys, OAuth
// applications and blocked applications, and the access that people granted to
// applications.
//
// Package core/access defines credentials and how they change. This package adds one rule,
// which it checks in the transaction of the change. A visitor can give a program only
// scopes that the visitor's own permissions cover, and cannot see the secret of a
// credential that has other scopes.
package developers
