// Package templates has the email templates of an organization: those that its sending
// account stores, and those that Mailhelm manages with their versions. One job copies the
// account's own templates into the database, so that reading them does not call the
// account. Another job deploys managed templates to the account. The package also renders
// templates, and finishes content before it is sent.
//
// # Size
//
// It is one package because saving, proposing and deploying a template check and finish the
// same content: a part of its own could deploy what another part refuses.
package templates
