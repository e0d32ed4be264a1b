// Package templates is the templates of an organization as its sending account
// holds them. A background sync mirrors them, so that listing them asks nobody. It
// does not render, and it writes nothing to the account.
package templates
