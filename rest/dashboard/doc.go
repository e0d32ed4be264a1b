// Package dashboard assembles the pages on which people manage their organization: it
// mounts the packages with pages, called rooms, and orders the navigation.
//
//   - home: the overview
//   - templates: the templates of the sending account
//   - contacts: the list of contacts, one contact, its changes, the export
//   - imports: imports of contacts from files
//   - audience: lists, topics
//   - segments: segments and the editor of their predicates
//   - registry: attributes, properties of activities, recorded activities
//   - insight: sending health, reports, suppressions, undeliverable addresses
//   - messages: the search of sent messages, the course of one message
//   - developers: API keys, applications, granted access, how assistants connect
//   - inboxes: temporary inboxes and their messages
//   - persons: the export and erasure of the data of one person
//   - closing: the export, deletion and restoring of the organization
//   - organization: the sending account, channels, members, settings, the audit log
//
// Each room has its own routes, templates and interfaces. All rooms use the package frame,
// whose documentation says how to add a page. Package actors has the words for the people and
// programs that changed something, package mailstatus those for the status of a message. The
// command in cmd/mailhelm/serve creates the rooms.
package dashboard
