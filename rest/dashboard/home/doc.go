// Package home is the first page of the dashboard: what is still to be set up, how many
// credentials and members there are, and the addresses to give to programs.
//
// It counts and links; the things themselves are on the pages of the other rooms, whose
// paths come with [Config].
package home
