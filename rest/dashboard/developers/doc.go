// Package developers has the dashboard's pages about credentials: API keys, OAuth
// applications and blocked applications, and the access that people granted to
// applications.
//
// Package core/access defines credentials and how they change. This package adds one rule,
// which it checks in the transaction of the change: a visitor cannot give a program more
// than their own permissions cover, and cannot see a secret with more scopes.
package developers
