// Package templates has the email templates of an organization, which its sending account
// stores. A job copies them into the database, so that reading them does not call the
// account. The package does not render templates and writes nothing to the account.
package templates
