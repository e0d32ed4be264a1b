// Package templates has the email templates of an organization. The organization's sending
// account stores them. A job copies them into the database, so that reading them does not
// call the account. It renders templates, and writes nothing to the account.
package templates
