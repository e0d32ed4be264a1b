// Package templates has the templates of an organization, as its sending account stores
// them. A background sync copies them into a mirror, so that listing them needs no call of
// the account. It does not render templates and writes nothing to the account.
package templates
