package dev.windlass.spring.test;

import org.springframework.boot.autoconfigure.SpringBootApplication;

/** An application to test. */
@SpringBootApplication
class Shop {}
