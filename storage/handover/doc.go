// Package handover stores the recipients of sends. Its statements change a recipient only
// under the conditions of the methods of handover.Recipient; a test compares the two.
package handover
