// Package partitions decides when the large tables of a PostgreSQL database are divided by time,
// and which of their partitions are made and removed. The statements are in storage/partitions.
package partitions
