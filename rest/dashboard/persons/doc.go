// Package persons has the dashboard pages with which members export and erase the data of a
// person that the organization writes to, and the page with this data that can be sent to the
// person. The rules are in core/privacy.
package persons
