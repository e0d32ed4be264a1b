// Package attributes stores the attribute definitions of organizations (the registry) and
// updates stored contacts when definitions change.
//
// A change of the registry blocks writes to contacts of the organization until it is
// committed. If it affects stored values, a background pass then rewrites the contacts with
// the new names, types and slots. The pass runs in many transactions, each with a limited
// number of contacts. Slots are the columns with values that predicates read; see package
// slots.
package attributes
