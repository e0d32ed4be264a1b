// Package home has the first page of the dashboard. It shows whether anything is wrong, the
// mail of the last seven days, what assistants changed today, the setup steps that are left,
// and the addresses to use in programs.
//
// Each part of the page is read by itself and only if the visitor may see it. A part that
// cannot be read says so in its place, and the others are shown. The paths of pages to which
// the overview links are in [Config].
package home
