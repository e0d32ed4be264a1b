// Package passwordchange stores the links that reset a password. It receives their secrets
// only hashed.
package passwordchange
