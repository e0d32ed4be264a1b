// Package attempts limits guessing: at passwords, and by asking for links of password
// resets. It owns the limits of one process and the secrets of known devices, from
// which a person signs in with an allowance of their own.
//
// It checks no password and begins no session: core/people does, and asks [Limits]
// first. The pages that hold a device's secret in a cookie are oauth/login.
package attempts
