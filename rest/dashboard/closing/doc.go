// Package closing has the dashboard pages with which an owner exports, deletes and restores the
// organization. The rules are in core/closing. People delete their own account on a page of
// oauth/login.
package closing
