// Package repository has the dashboard page about the Git repository of an organization: its
// connection, what the last sync found, and open proposals.
package repository
