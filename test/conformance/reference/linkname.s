// Empty: its presence lets linkname.go declare functions without a body.
