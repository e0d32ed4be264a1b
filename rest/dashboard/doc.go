// Package dashboard assembles the pages on which people manage their organization: it
// mounts the packages with pages, called rooms, and orders the navigation.
//
//   - home: the overview
//   - audience: lists, topics
//   - imports: imports of contacts from files
//   - insight: sending health, undeliverable addresses
//   - messages: the search of sent messages, the course of one message
//   - developers: API keys, applications, the access that people granted
//   - organization: the sending account, channels, members, settings, the audit log
//
// Each room has its own routes, templates and interfaces. All rooms use the package frame,
// whose documentation says how to add a page. The command in cmd/mailhelm/serve creates the
// rooms.
package dashboard
