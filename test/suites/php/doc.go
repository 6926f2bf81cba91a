// Package php runs PHP's tests of its extensions pdo_mysql and mysqli.
package php
