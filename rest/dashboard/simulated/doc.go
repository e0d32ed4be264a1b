// Package simulated has the dashboard's pages about the mail of the simulated sending
// account: a list, and one mail with its content. The account delivers no mail, so that
// these pages are where a person sees what broadcasts and tests send.
//
// The pages exist only for organizations that send with the simulated account. Addresses
// and contents are personal data. A visitor without the permission to search recipients
// sees masked addresses and no content. Contents come from other people: HTML is shown in a
// frame without scripts and without content from the network.
package simulated
