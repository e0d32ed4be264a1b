// Package site has the dashboard page about the website of an organization: the site key, the
// tag for web pages, and what happened to the beacons of seven days.
package site
