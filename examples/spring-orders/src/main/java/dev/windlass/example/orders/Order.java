package dev.windlass.example.orders;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.util.UUID;

@Entity
@Table(name = "orders")
class Order {
    @Id
    private UUID id;

    private String customer;
    private String item;
    private int cents;
    private boolean paid;

    @SuppressWarnings("NullAway.Init") // Hibernate sets the fields
    protected Order() {}

    Order(String customer, String item, int cents) {
        this.id = UUID.randomUUID();
        this.customer = customer;
        this.item = item;
        this.cents = cents;
    }

    UUID id() {
        return id;
    }

    String customer() {
        return customer;
    }

    String item() {
        return item;
    }

    int cents() {
        return cents;
    }

    boolean isPaid() {
        return paid;
    }

    void pay() {
        paid = true;
    }
}
