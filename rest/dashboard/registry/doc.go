// Package registry has the dashboard pages about definitions that predicates use: the
// attributes of contacts and the promoted properties of activities. It also has the page of
// recorded activities.
//
// A change of a definition takes two steps. The first form previews the change, and the
// review page shows its impact on segments and contacts. The form on that page repeats the
// fields and saves them.
package registry
