// Package passwordchange changes passwords: by the person who knows the old one, by a reset
// link that is mailed, or by the operator. It has the job that mails reset links.
//
// A new password ends sessions of the person, voids reset links and forgets known devices,
// in one transaction that locks the person. The person gets a notice by mail.
//
// The rules for new passwords and their hashes are in core/passwords, sign-in, sessions and
// second factors in core/people, the limits on requests for reset links in core/attempts,
// and the pages in oauth/login. This package does not import core/people, which imports
// core/members: the stores in storage/passwordchange would then exceed the repository's
// limit for import chains. It states what it needs of sessions as interfaces.
//
// Reset links are sent by the operator's own [letters.Sender], never by an organization's
// sending account, whose owner could read them. A request for a link enqueues a job whether
// or not the address exists. So neither its result nor its duration reveals which addresses
// exist.
package passwordchange
