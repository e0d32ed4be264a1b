// Package home has the first page of the dashboard, the overview. It shows the setup steps
// that are left, the numbers of credentials and members, and the addresses to use in
// programs.
//
// The overview counts records and links to the pages that show them. Their paths are in
// [Config].
package home
