// Package retention has the dashboard page on which an organization sees for how long records
// that grow are kept, and changes the periods.
package retention
