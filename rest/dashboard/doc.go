// Package dashboard is the table of contents of the pages on which people run their
// organization: it mounts the rooms and orders the navigation.
//
//   - home: the overview
//   - insight: sending health, undeliverable addresses
//   - developers: API keys, applications, the access that people granted
//   - organization: the sending account, channels, members, settings, the audit log
//
// Each room has its own routes, templates and interfaces. All stand in the package frame,
// whose documentation says how to add a page. The rooms are wired in cmd/mailhelm/host.
package dashboard
